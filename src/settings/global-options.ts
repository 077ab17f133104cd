/** The options that every command takes, as the command line gives them. */
export interface GlobalOptions {
  profile?: string;
  baseUrl?: string;
  allowHttp?: boolean;
  cacert?: string;
  quiet?: boolean;
  verbose?: boolean;
}
