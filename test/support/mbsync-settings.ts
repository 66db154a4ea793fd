/** Settings for mbsync, the program that copies between a mailbox and Maildirs, in interop tests and benchmarks. */

export type MbsyncOptions = {
  host: string;
  port: number;
  user: string;
  password: string;
  /** Path of the certificate of the server. */
  certificate: string;
  /** Folder of the Maildirs. */
  folder: string;
  /** Name of the folder of the mailbox that is copied. */
  pattern: string;
  /** Lines that say what is copied in which direction. */
  channel: readonly string[];
};

/** Returns the text of the file. */
export function mbsyncSettings(options: MbsyncOptions): string {
  const { host, port, user, password, certificate, folder, pattern, channel } = options;
  return `IMAPAccount account
Host ${host}
Port ${port}
User ${user}
Pass ${password}
SSLType IMAPS
CertificateFile ${certificate}

IMAPStore server
Account account

MaildirStore here
Path ${folder}/
Inbox ${folder}/INBOX
SubFolders Verbatim

Channel all
Far :server:
Near :here:
Patterns ${pattern}
${channel.join('\n')}
SyncState *
`;
}
