/** What an object has under a name from outside, and not what every object inherits, such as `constructor`. */
export function own<Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The value of each word, from values and their words: `[['image/jpeg', 'jpeg jpg']]`. */
export function byWord<Value>(
  table: readonly (readonly [value: Value, words: string])[],
): Map<string, Value> {
  return new Map(table.flatMap(([value, words]) => words.split(' ').map(word => [word, value] as const)));
}

/** A copy of an object with these fields only; those that it lacks become undefined. */
export function pick<T extends object, Name extends keyof T>(
  object: T,
  names: readonly Name[],
): Pick<T, Name> {
  return Object.fromEntries(names.map(name => [name, object[name]])) as Pick<T, Name>;
}

/** A copy of an object without the fields that are undefined. */
export function omitUndefined<T extends object>(fields: T): Compact<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Compact<T>;
}

/** The same, with optional fields that may be undefined. */
export type Loose<T> = {
  [Field in keyof T]: T extends Record<Field, T[Field]> ? T[Field] : T[Field] | undefined;
};

export type Compact<T> = {
  [Field in keyof T as undefined extends T[Field] ? never : Field]: T[Field];
} & {
  [Field in keyof T as undefined extends T[Field] ? Field : never]?: Exclude<T[Field], undefined>;
};

/** A function that finds the value of each key once: a rejection is kept, undefined is looked for again. */
export function memoize<Key extends unknown[], Value>(find: (...key: Key) => Value): (...key: Key) => Value {
  const values = new Map<string, Value>();
  return (...key) => {
    const name = key.join('\0');
    const value = values.get(name) ?? find(...key);
    values.set(name, value);
    return value;
  };
}
