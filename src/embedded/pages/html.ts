import {own} from '../../lib/own.ts';

/** Text that is already HTML. Only the tag below creates it, so all other text in a page is escaped. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Accepts a template literal unescaped. */
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

/** A tag for HTML templates: escapes each value for text and quoted attributes, unless the value is such a template itself. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const text = literals.map((literal, index) => `${literal}${textOf(parts[index])}`);
  return Html.ofLiteral(text.join(''));
}

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.toString();
  if (typeof part === 'object') return part.map(textOf).join('');
  return String(part).replace(/[&<>"']/g, character => own(entities, character) ?? '');
}
