/** Text that is HTML already. Only the tag below makes it, so that whatever else stands in a page is escaped. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Takes a literal as it is. */
  static ofLiteral(text: string): Html {
    return new Html(text);
  }

  toString(): string {
    return this.#text;
  }
}

type Part = Html | string | number | undefined | readonly Part[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** The tag of templates of HTML: each value is escaped, for text as for quoted attributes, unless it is such a template. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const text = literals.map((literal, index) => `${literal}${textOf(parts[index])}`);
  return Html.ofLiteral(text.join(''));
}

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.toString();
  if (typeof part === 'object') return part.map(textOf).join('');
  return String(part).replace(/[&<>"']/g, character => entities[character] ?? '');
}
