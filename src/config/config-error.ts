/** Reports a configuration that cannot be used. Its message names the setting or variable, and the file that it comes from. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
