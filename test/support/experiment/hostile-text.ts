/** Texts that try to steer a terminal, mislead a reader, run in a spreadsheet or a browser, or command a CI runner. */
export const payloads: Readonly<Record<string, string>> = {
  'a clearing sequence': '\u001b[2J\u001b[H',
  'a hyperlink (OSC 8)': '\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007',
  'a window title (OSC 0)': '\u001b]0;owned\u0007',
  'a clipboard write (OSC 52)': '\u001b]52;c;ZXZpbA==\u001b\\',
  'a device query': '\u001b[6n\u001b[c\u0005',
  'C1 controls': '\u009b31m\u009d8;;x\u009c\u0085\u0090q\u009c',
  'bidi overrides': 'photo\u202egnp.exe\u202c',
  'bidi isolates and marks': '\u2066a\u2069\u200f\u200e\u061c',
  'line breaks': 'a\r\nmedia: done.\n\u2028\u2029\u000b\u000c',
  'backspaces and bells': 'evil\b\b\b\bgood\u0007\u0000\u007f',
  'a formula': `=cmd|' /C calc'!A0`,
  'a workflow command': '::set-output name=id::evil',
  'an old workflow command': '##[add-matcher]/tmp/evil.json',
  'an Azure command': '##vso[task.setvariable variable=x]evil',
  'a script': '"><script>alert(1)</script>',
  Markdown: '](javascript:alert(1)) ![x](http://evil.example)',
  'a javascript URL': 'javascript:alert(document.domain)//',
};

/** What must never reach a terminal or a log as it is; line feeds end lines. */
export const rawControl =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

/** The lines that a CI runner would take for commands: `::` where a line begins, `##[` and its kin anywhere. */
export function runnerCommands(text: string): string[] {
  return text.split(/\r\n|\n|\r/).filter(line => /^\s*::|##\w*\[/.test(line));
}

/** The lines of a text that are no JSON. */
export function notJson(text: string): string[] {
  return text
    .split('\n')
    .slice(0, -1)
    .filter(line => {
      try {
        JSON.parse(line);
        return false;
      } catch {
        return true;
      }
    });
}
