/** Returns a function that runs actions in the given order, at most `most` at a time. */
export function limitConcurrency(most: number): <Result>(action: () => Promise<Result>) => Promise<Result> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async action => {
    if (running === most) await new Promise<void>(resolve => waiting.push(resolve));
    else running += 1;
    try {
      return await action();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
