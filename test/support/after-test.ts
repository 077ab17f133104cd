import {AsyncLocalStorage} from 'node:async_hooks';
import {expect as globalExpect, onTestFinished, type TestContext, test} from 'vitest';
import {slowTest} from './patience.ts';

const contexts = new AsyncLocalStorage<TestContext>();

/** Counts as an assertion of the test that calls it, be it one of several that run at the same time: the global one counts for all. */
export const expect: typeof globalExpect = new Proxy(globalExpect, {
  apply: (_target, _this, parameters: Parameters<typeof globalExpect>) =>
    (contexts.getStore()?.expect ?? globalExpect)(...parameters),
});

/** Calls the action when the test that is running has ended, be it one of several that run at the same time. */
export function afterTest(action: () => unknown): void {
  const {onTestFinished: register = onTestFinished} = contexts.getStore() ?? {};
  register(async () => void (await action()));
}

/**
 * Declares a test that mostly waits: those that follow each other in a file run at the same time. What they leave is removed
 * through `afterTest`, since vitest cannot tell which of them is meant.
 */
export function waitingTest(name: string, run: (context: TestContext) => Promise<void>): void {
  test.concurrent(name, slowTest, context => {
    // From now on, the assertions of this context are counted, and not the global ones, which another test may reset.
    void context.expect;
    return contexts.run(context, () => run(context));
  });
}
