/** The section of the configuration for backups. */
import { bech32 } from '@scure/base';
import { Type } from 'typebox';
import { section } from './fields.ts';

/** Maximum number of backups that are kept. Each has a copy of every database. */
const MAX_KEPT_BACKUPS = 1_000;
/** A day, after which the next backup is due. */
const MAX_COMMAND_MINUTES = 1_440;
const X25519_KEY_BYTES = 32;
/** Maximum number of public keys for which backups are encrypted. The archive has a line for each. */
const MAX_RECIPIENTS = 20;
/** Maximum number of words of the command for the copy off the host. */
const MAX_COMMAND_WORDS = 100;

/** Returns true for an X25519 recipient of age: Bech32 with a checksum that finds mistakes in typing. */
function isAgeRecipient(text: string): boolean {
  if (!text.startsWith('age1')) return false;
  const decoded = bech32.decodeUnsafe(text);
  return decoded !== undefined && bech32.fromWordsUnsafe(decoded.words)?.length === X25519_KEY_BYTES;
}

export const backupSection = section('Backups of the data directory.', {
  folder: Type.String({
    default: '',
    description:
      'Folder of the backups. On the file system of the data directory, files of messages are linked and take no further space. Empty: backups in the data directory.',
  }),
  time: Type.String({
    pattern: '^$|^([01][0-9]|2[0-3]):[0-5][0-9]$',
    default: '',
    description:
      'Time of day, in UTC, at which the daemon makes a backup every day, such as 02:30. Empty: backups are made only by "postrider backup create".',
  }),
  keep: Type.Integer({
    minimum: 1,
    maximum: MAX_KEPT_BACKUPS,
    default: 7,
    description: 'Number of backups that are kept after each daily one, and by "postrider backup prune".',
  }),
  recipients: Type.Array(
    Type.Refine(
      Type.String(),
      isAgeRecipient,
      () =>
        'must be a public key of age, such as age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
    ),
    {
      maxItems: MAX_RECIPIENTS,
      default: [],
      description:
        'Public keys (age1…) for which backups are encrypted. Each of their secret keys opens a backup; the daemon has none of them. Empty: backups are not encrypted.',
    },
  ),
  commandMinutes: Type.Integer({
    minimum: 1,
    maximum: MAX_COMMAND_MINUTES,
    default: 360,
    description:
      'Maximum time of that program, in minutes. It is then ended, with everything that it has started. No other backup is made while it runs.',
  }),
  command: Type.Array(Type.String(), {
    maxItems: MAX_COMMAND_WORDS,
    default: [],
    description:
      'Program with its arguments that copies each backup off this host, such as [/etc/postrider/backup-copy]. It is started without a shell after each backup in the folder; BACKUP_PATH has the path of the backup. Empty: none.',
  }),
});
