/** As many files at a time as make a run faster, at most so many unless the user says otherwise. */
export const autoConcurrency = {most: 128} as const;
