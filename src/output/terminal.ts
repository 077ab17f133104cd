import type {Host, TerminalOutput} from '../host.ts';

/** Whether text on this stream may be coloured: --no-color, then NO_COLOR, FORCE_COLOR, TERM and the terminal decide. */
export function mayColor(stream: TerminalOutput, env: Host['env'], option: boolean | undefined): boolean {
  if (option === false || env['NO_COLOR']) return false;
  if (env['FORCE_COLOR'] !== undefined) return env['FORCE_COLOR'] !== '0' && env['FORCE_COLOR'] !== 'false';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

/** Terminals that show links, by TERM_PROGRAM and by TERM. */
const linkingPrograms = ['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'mintty', 'Tabby', 'rio'];
const linkingTerminals = /^(xterm-kitty|xterm-ghostty|alacritty.*|foot.*|contour.*|wezterm)$/;

/** Whether text on this stream may hold links (OSC 8): only a terminal known for them; FORCE_HYPERLINK knows better. */
export function mayLink(stream: TerminalOutput, env: Host['env'], color: boolean): boolean {
  if (stream.isTTY !== true || !color) return false;
  const forced = env['FORCE_HYPERLINK'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  // A multiplexer passes links on only if both it and the terminal around it know them.
  if (env['CI'] || env['TMUX'] || /^(screen|tmux|dumb|linux)/.test(env['TERM'] ?? '')) return false;
  return (
    linkingPrograms.includes(env['TERM_PROGRAM'] ?? '') ||
    linkingTerminals.test(env['TERM'] ?? '') ||
    Boolean(env['WT_SESSION']) ||
    // VTE 0.50.2 and Konsole 20.12 are the first that have them and have them right.
    Number(env['VTE_VERSION']) >= 5002 ||
    Number(env['KONSOLE_VERSION']) >= 201200
  );
}

/** Whether this stream is a terminal that an animation can be drawn on. */
export function mayAnimate(stream: TerminalOutput, env: Host['env']): boolean {
  return stream.isTTY === true && (stream.columns ?? 0) > 0 && env['TERM'] !== 'dumb' && !env['CI'];
}

/** The width to fit text into, in cells: infinite off a terminal and on one that does not tell. */
export function widthOf(stream: TerminalOutput): number {
  return stream.isTTY === true && (stream.columns ?? 0) > 0
    ? (stream.columns as number)
    : Number.POSITIVE_INFINITY;
}

const bold = ['\u001b[1m', '\u001b[22m'] as const;
const red = ['\u001b[31m', '\u001b[39m'] as const;
const green = ['\u001b[32m', '\u001b[39m'] as const;
/** Where others take yellow, which nobody can read on a light background. */
const magenta = ['\u001b[35m', '\u001b[39m'] as const;
const styles = {bold, red, green, magenta};
export type Style = keyof typeof styles;

/** The text in a style, or as it is when colour is off. */
export function paint(style: Style, text: string, color: boolean): string {
  return color ? `${styles[style][0]}${text}${styles[style][1]}` : text;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that set a style begin with one
const styleSequence = /\u001b\[[\d;]*m/g;

/** The same terminal for those who colour unasked: their colours and other styles are left out. */
export function withoutColor(stream: TerminalOutput): TerminalOutput {
  const write = (text: string, ...rest: never[]) => stream.write(text.replace(styleSequence, ''), ...rest);
  return new Proxy(stream, {get: (target, name) => (name === 'write' ? write : Reflect.get(target, name))});
}
