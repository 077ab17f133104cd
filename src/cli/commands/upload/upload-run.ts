import type {JournalManifest} from '../../../engine/journal/journal.ts';
import {emptyUrl, noUrlError, publicUrl} from '../../../engine/service/record.ts';
import type {Source} from '../../../engine/sources/open/source.ts';
import {
  type LeftOut,
  type Outcome,
  type UploadResult,
  unrecordedOf,
  withHints,
} from '../../../engine/transfer/outcome.ts';
import {exitStatusOf, MediaError, type PlainError} from '../../../errors.ts';
import {fact, phrase} from '../../../hint.ts';
import type {EndSignal} from '../../../host.ts';
import {own} from '../../../lib/object.ts';
import {Stop} from '../../../lib/stop.ts';
import {commandLine, runOptions} from '../../hints/command-line.ts';
import {lineFormats} from '../../output/results/formats.ts';
import type {Results} from '../../output/results/results.ts';
import type {ExitStatus, Invocation} from '../../session/invocation.ts';
import type {Session} from '../../session/session.ts';
import type {Settings} from '../../settings/settings.ts';
import {type RunOutput, watchUpload} from './display.ts';
import {failureReport} from './failures.ts';
import type {UploadFlags} from './flags.ts';
import type {GithubReport} from './github.ts';
import {openInputs, refuseSameFile, typeDecision} from './open-inputs.ts';
import {closeResources, openResources, transferOptions} from './resources.ts';
import {retryAdvice} from './retry-advice.ts';
import {refuseContradictions} from './run-memory.ts';
import {refuseEmptyRun, Tally, unfollowedText} from './tally.ts';

/** A stopped run waits 5 s for responses, so a longer pause means a disk that hangs; in milliseconds. */
const longestPauseMs = 5_500;

/** One run of `media upload`: opens the service, sends the sources, prints the results, handles signals. */
export class UploadRun {
  readonly tally: Tally;
  #ci: GithubReport | undefined;
  readonly #options: UploadFlags;
  readonly #invocation: Invocation;
  readonly #output: RunOutput;
  readonly #stop = new Stop<MediaError>();
  readonly #retryAdvice: ReturnType<typeof retryAdvice>;
  readonly #failures: ReturnType<typeof failureReport>;
  #signal: EndSignal | undefined;
  /** Shows the progress; before the first file, there is only the summary. */
  #display: Awaited<ReturnType<typeof watchUpload>> | undefined;
  /** Prints the outcomes, if that is not left to another command. */
  #results: Results | undefined;
  #cancelQuit = () => {};
  /** Why the journal could not be closed. */
  #journalFailure: MediaError | undefined;
  /** Why the inputs came to an early end, after some of them. */
  #inputFailure: MediaError | undefined;
  /** The path of the journal, from which the next run knows what this one has sent. */
  #journal: string | undefined;

  constructor(options: UploadFlags, invocation: Invocation, output: RunOutput) {
    this.#options = options;
    this.#invocation = invocation;
    this.#output = output;
    this.tally = new Tally(options);
    this.#retryAdvice = retryAdvice(options, invocation);
    this.#failures = failureReport(invocation, options.check);
  }

  /** Makes the run; resolves to its exit status, or to the signal that stopped it. `ci` receives every outcome. */
  async execute(ci?: GithubReport): Promise<ExitStatus> {
    this.#ci = ci;
    const {host, report} = this.#invocation;
    const {deadline} = this.#options;
    const ignoreEndSignals = host.onEndSignal(signal => this.#onSignal(signal));
    const ignoreStatusSignals = host.onStatusSignal(() => {
      if (this.#display === undefined) report.note(this.tally.summary());
      else void this.#display.reportAfterCount();
    });
    const tooLate = new MediaError('deadline_exceeded', 'The deadline of this run has passed.', {
      hint: 'Allow more time with --deadline.',
    });
    const cancelDeadline =
      deadline === undefined ? () => {} : host.clock.after(deadline, () => this.#stopRun(tooLate));
    try {
      await this.#upload();
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      // After a signal, what failed because of it needs no report.
      if (this.#signal === undefined) throw this.#withRunHint(error);
    } finally {
      cancelDeadline();
      this.#cancelQuit();
      ignoreEndSignals();
      ignoreStatusSignals();
    }
    return this.#signal ?? this.#exitStatus();
  }

  /** The first signal stops the run, which still waits for responses; the second ends the process at once. */
  #onSignal(signal: EndSignal): void {
    const {abandon, report} = this.#invocation;
    if (this.#signal !== undefined) {
      this.#failures.end();
      abandon(signal);
      return;
    }
    const again = signal === 'SIGINT' ? 'Press Ctrl-C again' : 'Send the signal again';
    const suffix = this.#display?.isAwaiting() ? ': waiting for responses to finished uploads' : '';
    report.note(`Stopping${suffix}. ${again} to quit now.`);
    this.#signal = signal;
    this.#stopRun(new MediaError('interrupted', `The run was stopped by ${signal}.`));
  }

  /** Stops the run, by a signal or its deadline: nothing new is sent. */
  #stopRun(why: MediaError): void {
    const {host, stdout} = this.#invocation;
    stdout.hurry(host.clock);
    this.#stop.abort(why);
    this.#cancelQuit();
    this.#quitIfHung(why);
  }

  /** Ends the process with the results so far if no file gets a result for 5.5 s: a disk hangs, which never ends. */
  #quitIfHung(why: MediaError): void {
    const {abandon, report, host} = this.#invocation;
    const count = () => this.tally.total + this.tally.leftOut;
    const before = count();
    this.#cancelQuit = host.clock.after(longestPauseMs, () => {
      if (count() !== before) return this.#quitIfHung(why);
      this.#failures.end();
      report.failure(why);
      abandon(this.#signal ?? (this.#exitStatus() || 1));
    });
  }

  /** Reads the inputs, sends them, and reports each result and the whole; rejects if the run itself fails. */
  async #upload(): Promise<void> {
    const contentType = await typeDecision(this.#options);
    refuseContradictions(this.#options);
    await refuseSameFile(this.#options, this.#invocation.host);
    const inputs = await openInputs(this.#options, this.#invocation, this.#stop);
    const {several, shard} = inputs;
    const {dryRun = false, check, prune} = this.#options;
    if (inputs.empty) {
      const whole = prune ? 'The inputs contain no file' : 'The list names no file';
      const why = shard === undefined ? whole : 'This shard contains none of the inputs';
      this.#invocation.report.note(`${why}, so there is nothing to upload.`);
      if (!prune && (shard === undefined || this.#options.manifest === undefined)) return;
    }
    const {host, stdout, report} = this.#invocation;
    // For people, --check prints no table: its failures name the files.
    if ('format' in this.#output && !(check && this.#output.format === 'table')) {
      const {Results} = await import('../../output/results/results.ts');
      const isVerbose = report.level === 'verbose';
      this.#results = new Results(stdout, host.env, {...this.#output, several, dryRun, isVerbose});
    }
    const resources = await openResources(this.#options, this.#invocation, shard, this.#stop).catch(
      async error => {
        await inputs.close();
        throw error;
      },
    );
    const {session} = resources;
    this.#journal = resources.journal?.displayPath;
    const manifest = resources.journal?.manifest;
    const display = await watchUpload(this.#invocation, inputs, this.tally, (name, message, ofSeveral) =>
      this.#failures.warn(name, message, several, ofSeveral && ` ${ofSeveral}`),
    );
    this.#display = display;
    try {
      const {uploadBatch} = await import('../../../engine/transfer/batch.ts');
      const batchOptions = {contentType, observer: display.observer, several, stop: this.#stop};
      const options = transferOptions(this.#options, resources, this.#invocation, batchOptions);
      const sources = check && manifest ? withStale(inputs.sources, manifest) : inputs.sources;
      let hasAll = true;
      for await (const result of uploadBatch(sources, options)) {
        // It may be a file that was moved, and whose content nobody has looked up under its new name.
        if (result.status === 'failed') hasAll = false;
        await this.#report(result, several, session?.settings);
      }
      if (hasAll && !this.#stop.aborted) manifest?.allowPruning();
      else if (prune && !check && !this.#stop.aborted) report.note('Nothing is pruned, since a file failed.');
    } catch (error) {
      this.#failures.end();
      // If there are results, the run goes on to report them, and this error after them.
      if (!(error instanceof MediaError) || this.tally.total === 0) throw error;
      this.#inputFailure = this.#withRunHint(error);
    } finally {
      display.finish();
      this.#journalFailure = await closeResources(resources);
    }
    await this.#results?.end();
    if (this.#inputFailure !== undefined && this.#signal === undefined) report.failure(this.#inputFailure);
    if (inputs.unfollowedLinks?.size) report.note(unfollowedText(inputs.unfollowedLinks));
    if (this.#signal === undefined) refuseEmptyRun(this.tally, this.#options);
    await this.#conclude(session, several, manifest);
  }

  /** An error of the whole run, with the options of this run in the commands of its hint. */
  #withRunHint(error: MediaError): PlainError {
    return error.inWordsOf(commandLine(runOptions(this.#invocation, this.#options)));
  }

  /** Counts and reports the result of one file, and prints it or keeps it for the command that runs this. */
  async #report(result: Outcome | LeftOut, several: boolean, settings: Settings | undefined): Promise<void> {
    const {host, report} = this.#invocation;
    if (result.status === 'left out') {
      this.tally.add(result);
      report.trace(`${result.file}: left out, ${result.isHidden ? 'hidden' : 'not media'}.`);
      return this.#results?.add(result);
    }
    const noUrl = this.#noUrlError(result, several);
    const error = 'error' in result ? result.error : (unrecordedOf(result) ?? noUrl);
    const failure = error && (await this.#withHints(result, error, settings));
    const outcome = failure?.outcome ?? (result as UploadResult);
    this.tally.add(outcome, noUrl);
    this.#retryAdvice.add(outcome);
    this.#ci?.add(outcome, noUrl);
    if (failure !== undefined) this.#failures.add(outcome, several, failure);
    if (outcome.status === 'skipped' && 'format' in this.#output && !several && host.stderr.isTTY)
      report.note(`${outcome.file} was uploaded before, and is not sent again. This is its record.`);
    if ('outcomes' in this.#output) this.#output.outcomes.push(outcome);
    await this.#results?.add(outcome);
  }

  /** A failed outcome and its error, with hints as text that fit the command that was typed. */
  async #withHints(result: Outcome, error: MediaError, settings: Settings | undefined) {
    const {errorWriter} = await import('../../hints/key-hints.ts');
    const other = 'outcomes' in this.#output ? this.#options : undefined;
    const write = errorWriter(result, settings, runOptions(this.#invocation, this.#options), other);
    const outcome = withHints(result, write);
    const plain = 'error' in outcome ? outcome.error : write(error);
    return {outcome, error: plain, common: () => write(error, true)};
  }

  /** Why a stored file has only an empty line in a list of URLs. Where only a value is empty, warns of that instead. */
  #noUrlError(outcome: Outcome, several: boolean): MediaError | undefined {
    if (!('format' in this.#output && 'record' in outcome) || 'error' in outcome) return undefined;
    const {format} = this.#output;
    const {file: name, record} = outcome;
    const urlOf = typeof format === 'object' ? undefined : own(lineFormats, format)?.urlOf;
    if (urlOf !== undefined) return noUrlError(name, record, urlOf);
    const hasUrl = this.#ci !== undefined || (typeof format === 'object' && format.template.hasUrl);
    if (hasUrl && publicUrl(record) === undefined) this.#failures.warn(name, emptyUrl, several);
    return undefined;
  }

  /** Ends the report on standard error: failures in groups, then advice, and the summary last, where people look. */
  async #conclude(session: Session | undefined, several: boolean, manifest: JournalManifest | undefined) {
    const {report} = this.#invocation;
    if (session?.settings.baseUrl === 'embedded' && this.tally.counts.uploaded > 0)
      report.note("Stored by the embedded service; the record's URLs work while media serve runs.");
    if (this.#options.dryRun && !this.#options.check) {
      if (several) for (const line of this.tally.sums()) report.note(line);
      for await (const key of manifest?.stale() ?? [])
        report.note(`To be removed from ${manifest?.displayPath}, since the file is gone: ${key}`);
    }
    this.#failures.end();
    if ('format' in this.#output) {
      for (const line of this.#advice(several)) report.note(line);
      if (this.#options.check) report.note(this.tally.checkSummary(manifest?.displayPath));
      else if (several) report.note(this.tally.summary());
    }
    if (manifest?.change !== undefined) report.note(`${manifest.displayPath}: ${manifest.change}`);
  }

  /** Suggests how to retry what failed. After a signal, only a journal knows what is left. */
  #advice(several: boolean): string[] {
    if (this.#options.dryRun || !several) return [];
    const lines = this.#retryAdvice.settling(this.#journal);
    const isRemembered = this.#journal !== undefined;
    if (this.#signal === undefined) return [...lines, ...this.#retryAdvice.advice(isRemembered)];
    if (isRemembered) return [...lines, ...this.#retryAdvice.continuation()];
    return [...lines, 'With --once, --manifest or --journal, the same command continues such a run.'];
  }

  /** The exit status. Call it once: it also reports a failure to write the output or to close the journal. */
  #exitStatus(): ExitStatus {
    const {stdout, report} = this.#invocation;
    const status = Math.min(this.tally.exitStatus(), this.#options.check ? 1 : 7);
    const isRecorded = this.#journal !== undefined || !this.tally.isAnyStored;
    const journal = isRecorded ? undefined : 'With --journal FILE, a journal records what was stored.';
    const hint = status === 0 ? this.tally.outputHint : journal;
    const failures = [stdout.failure?.reword({hint}), this.#journalFailure].flatMap(failure => failure ?? []);
    for (const failure of failures) report.failure(failure);
    if (this.#inputFailure !== undefined && status < 3)
      return this.tally.isAnyStored ? 3 : exitStatusOf[this.#inputFailure.code];
    return status === 0 && failures.length > 0 ? 1 : status;
  }
}

/** The sources of a check, and one that fails for each entry of the manifest that is to be removed. */
async function* withStale(sources: AsyncIterable<Source>, manifest: JournalManifest) {
  yield* sources;
  manifest.allowPruning();
  for await (const name of manifest.stale()) {
    const sentence = phrase`${fact('subject', name, 'is')} gone, and still in ${manifest.displayPath}.`;
    yield {name, open: () => Promise.reject(new MediaError('manifest_outdated', sentence))};
  }
}
