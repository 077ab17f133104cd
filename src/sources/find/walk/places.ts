import {realpath} from 'node:fs/promises';
import {type ByteName, parentsOf, toPath, withSlashes} from './names.ts';
import type {WalkRules} from './walk-rules.ts';

/** Finds the targets of links within a walk, so that no file is taken twice. */
export class Places {
  readonly #root: ByteName;
  readonly #rules: WalkRules;
  #realRoot: Promise<ByteName> | undefined;

  constructor(root: ByteName, rules: WalkRules) {
    this.#root = root;
    this.#rules = rules;
  }

  /** The path, relative to the root, where the walk finds the target of a link by itself, if it does. */
  async ofFile(link: ByteName): Promise<ByteName | undefined> {
    const relative = await this.#below(link);
    return relative !== undefined && relative !== '' && this.#rules.takes(relative) && this.#leadsTo(relative)
      ? relative
      : undefined;
  }

  #leadsTo(relative: ByteName): boolean {
    const {enters, hides} = this.#rules;
    return !hides(relative) && [...parentsOf(relative)].every(parent => enters(parent) && !hides(parent));
  }

  /** The target of a link, relative to the root, if it is below it. */
  async #below(link: ByteName): Promise<ByteName | undefined> {
    try {
      this.#realRoot ??= realPath(this.#root);
      const [root, target] = await Promise.all([this.#realRoot, realPath(link)]);
      if (target === root) return '';
      const prefix = root === '/' ? '/' : `${root}/`;
      return target.startsWith(prefix) ? target.slice(prefix.length) : undefined;
    } catch {
      // A broken link has no target.
      return undefined;
    }
  }
}

/** The path without links; rejects if it does not exist. */
export async function realPath(path: ByteName): Promise<ByteName> {
  return withSlashes((await realpath(toPath(path), 'buffer')).toString('latin1'));
}
