/** Checks that the daemon listens on the ports of the configuration. HTTPS waits for its ports while another program has them. */
import type { Config } from '../../config/config.ts';
import { type Check, type CheckContext, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('ports');

export type ConfiguredPort = { address: string; port: number; setting: string };

/** Returns the TCP ports that the daemon is to listen on. Port 0 takes any free one. */
export function configuredPorts(config: Config): ConfiguredPort[] {
  const { http, https, smtp, submission, imap, pop3, managesieve, nameserver } = config;
  const at = ({ address }: { address: string }, port: number, setting: string): ConfiguredPort => {
    return { address, port, setting };
  };
  const all = [
    at(smtp, smtp.port, 'smtp.port'),
    at(http, http.port, 'http.port'),
    ...(https.enabled
      ? [at(https, https.redirectPort, 'https.redirectPort'), at(https, https.port, 'https.port')]
      : []),
    ...(submission.enabled
      ? [
          at(submission, submission.tlsPort, 'submission.tlsPort'),
          at(submission, submission.port, 'submission.port'),
        ]
      : []),
    at(imap, imap.port, 'imap.port'),
    ...(imap.starttls ? [at(imap, imap.starttlsPort, 'imap.starttlsPort')] : []),
    at(pop3, pop3.port, 'pop3.port'),
    ...(pop3.starttls ? [at(pop3, pop3.starttlsPort, 'pop3.starttlsPort')] : []),
    at(managesieve, managesieve.port, 'managesieve.port'),
    ...(nameserver.enabled
      ? nameserver.addresses.map((address) => at({ address }, nameserver.port, 'nameserver.port'))
      : []),
  ];
  return all.filter(({ port }) => port !== 0);
}

export const ports: Check = {
  name: 'ports',
  isForProduction: true,
  async run(context) {
    const open = await context.machine.listListeningPorts();
    if (open === undefined) return [ok('this machine', 'it does not say which ports are listened on')];
    const wanted = await expectedPorts(context);
    const closed = wanted.filter(({ port }) => !open.has(port));
    const numbers = wanted.map(({ port }) => port).join(' ');
    if (closed.length === 0) return [ok('this machine', `the daemon listens on ${numbers}`)];
    if (closed.length === wanted.length)
      return [
        warn('this machine', `the daemon does not run: it listens on none of ${numbers}`, 'start the daemon'),
      ];
    return closed.map(({ port, setting }) =>
      fail(
        `port ${port}`,
        `the daemon does not listen on it, though ${setting} names it`,
        `free it if another program has it ("ss -ltnp" as root), look for the reason in the log, or change ${setting}`,
      ),
    );
  },
};

/** HTTPS is not listened on before there is a certificate that browsers accept, or one that is ordered. */
async function expectedPorts({
  config,
  certificates,
}: Pick<CheckContext, 'config' | 'certificates'>): Promise<ConfiguredPort[]> {
  const all = configuredPorts(config);
  if (!config.https.enabled || config.acme.directory !== '') return all;
  const listed = await certificates.list();
  const isTrusted = listed.some(({ kind, names }) => kind !== 'self_signed' && names !== null);
  return isTrusted ? all : all.filter(({ setting }) => !setting.startsWith('https.'));
}
