import {AsyncLocalStorage} from 'node:async_hooks';
import {onTestFinished, type TestContext, test} from 'vitest';
import {slowTest} from './patience.ts';

const contexts = new AsyncLocalStorage<TestContext>();

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
  test.concurrent(name, slowTest, context => contexts.run(context, () => run(context)));
}
