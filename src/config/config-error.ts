/** An invalid setting. The process ends with `exitCode`. */
export class ConfigError extends Error {
  readonly code = 'bad_setting';
  readonly exitCode = 20;
  readonly variable: string;
  constructor(variable: string, message: string) {
    super(`${variable}: ${message}`);
    this.name = 'ConfigError';
    this.variable = variable;
  }
}
