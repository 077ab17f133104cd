import {MediaError} from '../errors.ts';
import type {EndSignal} from '../host.ts';
import type {FormatName} from '../output/formats.ts';
import type {Source} from '../sources/source.ts';
import type {Outcome, TransferObserver} from '../transfer/transfer.ts';
import type {ExitStatus, Invocation} from './cli.ts';
import {exitStatus} from './exit-status.ts';
import type {Session} from './session.ts';
import type {UploadOptions} from './upload.ts';
import type {TypeDecision} from './upload-inputs.ts';

/** One run of `media upload`: opens the service, sends the sources, prints what becomes of them, heeds signals. */
export class UploadRun {
  readonly #options: UploadOptions;
  readonly #invocation: Invocation;
  readonly #sources: Source[];
  readonly #format: FormatName;
  readonly #stop = new AbortController();
  readonly #outcomes: Outcome[] = [];
  #signal: EndSignal | undefined;

  constructor(options: UploadOptions, invocation: Invocation, sources: Source[], format: FormatName) {
    this.#options = options;
    this.#invocation = invocation;
    this.#sources = sources;
    this.#format = format;
  }

  async execute(contentType: TypeDecision): Promise<ExitStatus> {
    const {host} = this.#invocation;
    const stopListening = host.onEndSignal(signal => this.#onSignal(signal));
    const cancelDeadline = this.#startDeadline();
    try {
      await this.#upload(contentType);
    } finally {
      cancelDeadline();
      stopListening();
    }
    return this.#signal ?? this.#exitStatus();
  }

  #onSignal(signal: EndSignal): void {
    if (this.#signal !== undefined) this.#invocation.abandon(signal);
    this.#signal ??= signal;
    this.#stop.abort(new MediaError('interrupted', `The run was ended by ${signal}.`));
  }

  #startDeadline(): () => void {
    const {deadline} = this.#options;
    if (deadline === undefined) return () => {};
    const error = new MediaError('deadline_exceeded', 'The deadline of this run has passed.', {
      hint: 'Allow more time with --deadline.',
    });
    return this.#invocation.host.clock.after(deadline, () => this.#stop.abort(error));
  }

  async #upload(contentType: TypeDecision): Promise<void> {
    const {host, stdout, globals} = this.#invocation;
    const [{Results}, {mayColor, widthOf}] = await Promise.all([
      import('../output/results.ts'),
      import('../output/terminal.ts'),
    ]);
    const results = new Results(stdout, {
      format: this.#format,
      several: this.#sources.length > 1,
      width: widthOf(host.stdout),
      color: mayColor(host.stdout, host.env, globals.color),
    });
    const session = await this.#openSession();
    const {observer, stop} = await this.#observe();
    try {
      for await (const outcome of await this.#transfer(session, contentType, observer)) {
        this.#outcomes.push(outcome);
        if ('error' in outcome) this.#invocation.report.failure(outcome.error, outcome.name);
        await results.add(outcome);
      }
    } finally {
      stop();
      await session?.close();
    }
    await results.end();
    await this.#conclude(session);
  }

  /** A dry run needs no service. */
  async #openSession(): Promise<Session | undefined> {
    if (this.#options.dryRun) return undefined;
    const {openSession} = await import('./session.ts');
    return openSession(this.#invocation);
  }

  async #transfer(session: Session | undefined, contentType: TypeDecision, observer: TransferObserver) {
    const {host} = this.#invocation;
    const {uploadAll} = await import('../transfer/transfer.ts');
    const {retries, stallTimeout, answerTimeout, onUnknown} = this.#options;
    return uploadAll(this.#sources, {
      uploader: session?.client ?? {upload: () => Promise.reject(new Error('a dry run sends nothing'))},
      host: session?.hostName ?? '',
      clock: host.clock,
      random: () => host.random(),
      uuid: () => host.uuid(),
      contentType,
      retries,
      stallTimeoutMs: stallTimeout,
      answerTimeoutMs: answerTimeout,
      onUnknown: session?.idempotencyHonoured ? 'retry' : onUnknown,
      dryRun: this.#options.dryRun === true,
      failFast: this.#options.failFast === true,
      stop: this.#stop.signal,
      observer,
    });
  }

  async #observe(): Promise<{observer: TransferObserver; stop: () => void}> {
    const {host, report, globals} = this.#invocation;
    const {mayAnimate, mayColor} = await import('../output/terminal.ts');
    const animated = report.chatty && !this.#options.dryRun && mayAnimate(host.stderr, host.env);
    const progress = animated
      ? new (await import('../output/progress.ts')).Progress(
          host.stderr,
          host.clock,
          mayColor(host.stderr, host.env, globals.color),
        )
      : undefined;
    report.drawing = progress;
    const observer: TransferObserver = {
      started: (name, size) => progress?.started(name, size),
      progress: sentBytes => progress?.progress(sentBytes),
      retrying: (name, error, waitMs) => {
        progress?.waiting(waitMs, error.message);
        report.trace(`${name}: ${error.message} Next try in ${Math.round(waitMs)} ms.`);
      },
      warning: (name, message) => report.warning(`${name}: ${message}`),
    };
    const stop = () => {
      progress?.stop();
      report.drawing = undefined;
    };
    return {observer, stop};
  }

  async #conclude(session: Session | undefined): Promise<void> {
    const {report} = this.#invocation;
    if (session?.embedded && this.#count('uploaded') > 0) {
      report.note("Stored by the embedded service; the record's URLs answer while media serve runs.");
    }
    if (this.#sources.length > 1) {
      const skipped = this.#count('checked');
      report.note(
        `${this.#count('uploaded')} uploaded, ${skipped} skipped, ${this.#count('failed')} failed, ${this.#count('unknown')} unknown`,
      );
    }
  }

  #count(status: Outcome['status']): number {
    return this.#outcomes.filter(outcome => outcome.status === status).length;
  }

  #exitStatus(): ExitStatus {
    const {stdout, report} = this.#invocation;
    const status = exitStatus(this.#outcomes);
    if (stdout.failure === undefined) return status;
    report.failure(stdout.failure);
    return status === 0 ? 1 : status;
  }
}
