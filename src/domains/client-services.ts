/** Names the services by which mail programs reach mailboxes, as the configuration has them. */
import type { Config } from '../config/config.ts';

export type ClientService = {
  protocol: 'imap' | 'pop3' | 'smtp' | 'sieve';
  /** `tls` begins with TLS, and `starttls` asks for it after it has connected. */
  security: 'tls' | 'starttls';
  port: number;
};

export type ClientConfig = Pick<Config, 'hostname' | 'imap' | 'pop3' | 'submission' | 'managesieve'>;

/**
 * Returns the services, those that a mail program should prefer first. They are all at the host name of the installation. A port that
 * is chosen when the daemon starts is not known here, so that its service is left out.
 */
export function clientServices({ imap, pop3, submission, managesieve }: ClientConfig): ClientService[] {
  const services: ClientService[] = [
    { protocol: 'imap', security: 'tls', port: imap.port },
    ...(imap.starttls ? [{ protocol: 'imap', security: 'starttls', port: imap.starttlsPort } as const] : []),
    { protocol: 'pop3', security: 'tls', port: pop3.port },
    ...(pop3.starttls ? [{ protocol: 'pop3', security: 'starttls', port: pop3.starttlsPort } as const] : []),
    ...(submission.enabled
      ? ([
          { protocol: 'smtp', security: 'tls', port: submission.tlsPort },
          { protocol: 'smtp', security: 'starttls', port: submission.port },
        ] as const)
      : []),
    { protocol: 'sieve', security: 'starttls', port: managesieve.port },
  ];
  return services.filter(({ port }) => port !== 0);
}
