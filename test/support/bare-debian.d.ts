export function whyNoBareDebian(): string | undefined;
export function bareDebian(directory: string): string;
