/** The store that the configuration names, with its secret. */
import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { StoreSettings } from '../objects/open-store.ts';
import { errorMessage } from '../system/errors.ts';

/**
 * Returns the settings with which the store is opened.
 * @throws ConfigError when the file of the secret cannot be read
 */
export function storeSettings({ standby }: Pick<Config, 'standby'>): StoreSettings {
  const { store: url, accessKeyId, secretFile, region, pin } = standby;
  const secret = secretFile === '' ? undefined : readSecret(secretFile);
  const isBucket = url.startsWith('s3+');
  return {
    url,
    pin: pin === '' ? undefined : pin,
    ...(isBucket ? { accessKeyId, secretAccessKey: secret, region } : { token: secret }),
  };
}

function readSecret(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`standby.secretFile cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}
