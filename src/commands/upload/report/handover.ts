import type {Invocation} from '../../../cli/invocation.ts';
import {childEnvironment} from '../../../lib/secrets/child-environment.ts';
import {webAddress} from '../../../output/results/links.ts';
import {mayColor, widthOf} from '../../../output/terminal.ts';
import {publicUrl} from '../../../service/record.ts';
import type {Outcome} from '../../../transfer/outcome.ts';
import type {UploadFlags} from '../setup/flags.ts';
import type {AfterAction} from './after-action.ts';

/** The actions that the options ask for: reports to CI, browser windows, the clipboard, QR codes. */
export async function afterActions(options: UploadFlags, invocation: Invocation): Promise<AfterAction[]> {
  const actions: AfterAction[] = [];
  const {reportsToGithub} = await import('../../../output/ci.ts');
  if (reportsToGithub(options.ci, invocation.host.env)) {
    const {GithubReport} = await import('./github.ts');
    actions.push(new GithubReport(invocation, options.dryRun === true));
  }
  if (options.open || options.copy || options.qr) actions.push(new Handover(options, invocation));
  return actions;
}

/** How many windows or codes are opened at most. */
const mostShown = 10;
/** xterm's limit, before base64. */
const longestCopy = 74_994;

/** Passes the URLs to the browser, the terminal's clipboard or QR codes. */
class Handover implements AfterAction {
  readonly #options: UploadFlags;
  readonly #invocation: Invocation;
  readonly #addresses: [number, string][] = [];

  constructor(options: UploadFlags, invocation: Invocation) {
    this.#options = options;
    this.#invocation = invocation;
  }

  add(outcome: Outcome): void {
    if (!('received' in outcome)) return;
    const address = webAddress(publicUrl(outcome.received.record));
    if (address !== undefined) this.#addresses.push([outcome.position, address]);
    else this.#invocation.report.warning(`${outcome.name}: the record has no web URL.`);
  }

  failed(): void {}

  async end(): Promise<undefined> {
    const addresses = this.#addresses.sort(([a], [b]) => a - b).map(([, address]) => address);
    if (addresses.length === 0) return;
    const {open, copy, qr} = this.#options;
    const shown = addresses.slice(0, mostShown);
    if (qr) await this.#showCodes(shown);
    if (copy) this.#copy(addresses);
    if (open) await this.#open(shown);
    if ((qr || open) && shown.length < addresses.length)
      this.#invocation.report.warning(`Only the first ${mostShown} of ${addresses.length} URLs were shown.`);
  }

  async #showCodes(addresses: readonly string[]): Promise<void> {
    const {host, report, globals} = this.#invocation;
    if (!this.#isTerminal('--qr')) return;
    const {qrCode} = await import('../../../output/results/qr.ts');
    const size = {width: widthOf(host.stderr), color: mayColor(host.stderr, host.env, globals.color)};
    for (const address of addresses) {
      const code = qrCode(address, size);
      if (code === undefined) report.warning(`The terminal is too narrow for the QR code of ${address}`);
      else host.stderr.write(`${code}${address}\n`);
    }
  }

  #copy(addresses: readonly string[]): void {
    const {host, report} = this.#invocation;
    if (!this.#isTerminal('--copy')) return;
    const text = addresses.join('\n');
    if (text.length > longestCopy) {
      report.warning('The URLs are too long for the clipboard of a terminal; nothing was copied.');
      return;
    }
    // OSC 52: the terminal decides whether programs may set its clipboard, and does not report it.
    host.stderr.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`);
    const what = addresses.length === 1 ? 'the URL' : `${addresses.length} URLs`;
    report.note(`Sent ${what} to the terminal's clipboard.`);
  }

  #isTerminal(option: string): boolean {
    const {host, report} = this.#invocation;
    if (host.stderr.isTTY === true && host.env['TERM'] !== 'dumb') return true;
    report.warning(`${option} needs a terminal on standard error.`);
    return false;
  }

  async #open(addresses: readonly string[]): Promise<void> {
    const {default: open} = await import('open');
    const {host} = this.#invocation;
    // Otherwise the browser, and every program that it starts, would get the key.
    host.narrowEnvironment(childEnvironment(host.env));
    for (const address of addresses) {
      try {
        await open(address);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#invocation.report.warning(`No browser could be started for ${address}: ${reason}`);
      }
    }
  }
}
