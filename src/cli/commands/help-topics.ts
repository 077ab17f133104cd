import type {JsonOutputs} from '../output/json-output.ts';

/** What `media help TOPIC` explains besides the commands; `npm run completions` writes the texts to man/. */
export const helpTopics = {
  'exit-codes': 'what each exit status means',
  errors: 'what each error code means',
  settings: 'what each setting of a profile means',
  environment: 'environment variables',
  formats: 'what each output format prints',
  patterns: 'which files a pattern matches',
  journal: 'how to continue a run, and settle unknown files',
} as const;

export type HelpTopic = keyof typeof helpTopics;

/** What each schema of `media help --schema` describes; the schemas in docs/schemas are generated. */
export const schemaSubjects: Record<keyof JsonOutputs, string> = {
  record: 'a record: a line of media upload --json, and record in other lines',
  upload: 'a line of media upload --ndjson',
  error: 'a failure on standard error: of a file with --json, of the whole run also with --ndjson',
  whoami: 'media whoami --json',
  doctor: 'media doctor --json',
  'config-list': 'media config list --json',
  'journal-list': 'a line of media journal list --json',
  'journal-check': 'a line of media journal check --json and media journal merge --json',
  rewrite: 'a line of media rewrite --ndjson; with unchanged or dialect, on standard error',
  watch: 'a line of media watch --ndjson about a file or, with event, about a directory or the service',
  serve: 'a line of the log of media serve --ndjson, on standard error',
  manifest: 'the file of --manifest',
};
