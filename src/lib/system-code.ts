/** The code of a system error such as ENOENT or ECONNRESET, if the value is one. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as {code?: unknown} | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
