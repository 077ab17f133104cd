const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quotedString = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\\t\\x20-\\x7e])*"';
const typePattern = new RegExp(`^${token}/${token}`);
const parameterPattern = new RegExp(`[ \\t]*;[ \\t]*(?:(${token})=(${token}|${quotedString}))?`, 'y');

/** A media type and its parameters; names are in lower case, quotes stay. */
export interface ParsedMediaType {
  type: string;
  parameters: [name: string, value: string][];
}

/** Parses a media type (RFC 9110, 8.3.1); undefined for any other text. */
export function parseMediaType(text: string): ParsedMediaType | undefined {
  const type = typePattern.exec(text)?.[0];
  if (type === undefined) return undefined;
  const parameters: ParsedMediaType['parameters'] = [];
  parameterPattern.lastIndex = type.length;
  while (parameterPattern.lastIndex < text.length) {
    const parameter = parameterPattern.exec(text);
    if (parameter === null) return undefined;
    const [, name, value = ''] = parameter;
    // A semicolon with nothing after it is allowed.
    if (name !== undefined) parameters.push([name.toLowerCase(), value]);
  }
  return {type: type.toLowerCase(), parameters};
}

export function mediaTypeText({type, parameters}: ParsedMediaType): string {
  return [type, ...parameters.map(([name, value]) => `${name}=${value}`)].join('; ');
}
