/**
 * What an object has under a name from outside. `object[name]` would also find what every object inherits, such as
 * `constructor`.
 */
export function own<Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
