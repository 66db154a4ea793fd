/**
 * Makes the paths of the configuration absolute. A path in the file is relative to the folder of the file, because the daemon and its
 * commands may run in different folders.
 */
import { resolve } from 'node:path';
import type { ConfigFields } from './schema.ts';

/** Returns the configuration with absolute paths. `folderOf` returns the folder at which relative paths of a setting start. */
export function withAbsolutePaths(config: ConfigFields, folderOf: (setting: string) => string): ConfigFields {
  const absolute = (setting: string, path: string) => resolve(folderOf(setting), path);
  /** An empty path is no path. */
  const optional = (setting: string, path: string) => (path === '' ? '' : absolute(setting, path));
  const { tls, delivery, backup, standby, outbound, dns, acme, openid } = config;
  const { externalAccount } = acme;
  return {
    ...config,
    dataDir: absolute('dataDir', config.dataDir),
    tls: {
      ...tls,
      certificates: tls.certificates.map(({ certificate, key }) => ({
        certificate: absolute('tls.certificates', certificate),
        key: absolute('tls.certificates', key),
      })),
    },
    delivery: {
      ...delivery,
      repliesFile: optional('delivery.repliesFile', delivery.repliesFile),
      backOffFile: optional('delivery.backOffFile', delivery.backOffFile),
    },
    backup: { ...backup, folder: optional('backup.folder', backup.folder) },
    standby: { ...standby, secretFile: optional('standby.secretFile', standby.secretFile) },
    outbound: {
      ...outbound,
      routes: outbound.routes.map(({ passwordFile, caFile, ...route }) => ({
        ...route,
        ...(passwordFile !== undefined && { passwordFile: absolute('outbound.routes', passwordFile) }),
        ...(caFile !== undefined && { caFile: absolute('outbound.routes', caFile) }),
      })),
      sources: outbound.sources.map(({ passwordFile, ...source }) => ({
        ...source,
        ...(passwordFile !== undefined && { passwordFile: absolute('outbound.sources', passwordFile) }),
      })),
    },
    openid: {
      ...openid,
      clientSecretFile: optional('openid.clientSecretFile', openid.clientSecretFile),
    },
    dns: { ...dns, update: { ...dns.update, key: optional('dns.update.key', dns.update.key) } },
    acme: {
      ...acme,
      externalAccount: {
        ...externalAccount,
        hmacKeyFile: optional('acme.externalAccount.hmacKeyFile', externalAccount.hmacKeyFile),
      },
    },
  };
}
