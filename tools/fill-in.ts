/** The template with each @NAME@ replaced; throws if a name has no value or a value has no name. */
export function fillIn(template: string, values: Record<string, string>): string {
  const missing = Object.keys(values).filter(name => !template.includes(`@${name}@`));
  if (missing.length > 0) throw new Error(`The template has no place for ${missing.join(', ')}.`);
  return template.replace(/@([A-Z]+)@/g, (_place, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The template wants ${name}.`);
    return value;
  });
}
