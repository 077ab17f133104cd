import {realpath} from 'node:fs/promises';
import {type ByteName, parentsOf, toPath, withSlashes} from './names.ts';
import type {WalkRules} from './walk-rules.ts';

/** Where in a walk the targets of links have their places, so that nothing is taken twice. */
export class Places {
  readonly #root: ByteName;
  readonly #rules: WalkRules;
  #realRoot: Promise<ByteName> | undefined;

  constructor(root: ByteName, rules: WalkRules) {
    this.#root = root;
    this.#rules = rules;
  }

  /** The path, relative to the root, under which the walk comes across the file that a link leads to by itself, if it does. */
  async ofFile(link: ByteName): Promise<ByteName | undefined> {
    const relative = await this.#below(link);
    return relative !== undefined && relative !== '' && this.#rules.takes(relative) && this.#leadsTo(relative)
      ? relative
      : undefined;
  }

  /** The same of a directory; '' for the root. */
  async ofDirectory(link: ByteName): Promise<ByteName | undefined> {
    const relative = await this.#below(link);
    return relative === '' ||
      (relative !== undefined && this.#rules.enters(relative) && this.#leadsTo(relative))
      ? relative
      : undefined;
  }

  #leadsTo(relative: ByteName): boolean {
    const {enters, hides} = this.#rules;
    return !hides(relative) && [...parentsOf(relative)].every(parent => enters(parent) && !hides(parent));
  }

  /** What a link leads to, relative to the root, if it is below it. */
  async #below(link: ByteName): Promise<ByteName | undefined> {
    try {
      this.#realRoot ??= realPath(this.#root);
      const [root, target] = await Promise.all([this.#realRoot, realPath(link)]);
      if (target === root) return '';
      const prefix = root === '/' ? '/' : `${root}/`;
      return target.startsWith(prefix) ? target.slice(prefix.length) : undefined;
    } catch {
      // A link that leads nowhere has no place.
      return undefined;
    }
  }
}

/** The path without any link; rejects where there is nothing. */
export async function realPath(path: ByteName): Promise<ByteName> {
  return withSlashes((await realpath(toPath(path), 'buffer')).toString('latin1'));
}
