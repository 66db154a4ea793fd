/** The end of a set-up: a line for curl that works, and what programs read of the whole. */
import type { Config } from '../../config/config.ts';
import { curlLine, UNKNOWN_KEY } from '../../emails/curl.ts';
import type { Made } from './accounts.ts';
import type { World } from './network.ts';
import type { Service } from './service.ts';

type Finished = {
  world: Pick<World, 'probeTls'>;
  config: Config;
  made: Made;
  service: Pick<Service, 'kind' | 'control'>;
  file: string;
};

/** Port of HTTPS (RFC 9110 section 4.2.2). */
const HTTPS_PORT = 443;

/** Returns the last lines, and the summary. */
export async function nextSteps({ world, config, made, service, file }: Finished) {
  const { mailbox, tokens, domain, tenantId } = made;
  const address = await findApiAddress(world, config);
  const curl = firstMail(address, config, made);
  const dashboard = await makeSetUpLink(service, tenantId);
  const start = service.kind === 'child' ? [`Start the daemon:\n  postrider serve --config ${file}`] : [];
  const note = curl.includes(UNKNOWN_KEY)
    ? ['KEY is the key that the first run has printed; "postrider key create" makes another.']
    : [];
  return {
    text: ['', ...start, ...linesFor(dashboard), 'Send an email:', curl, ...note].join('\n'),
    summary: {
      hostname: config.hostname,
      tenant: tenantId,
      domain: { name: domain.name, status: domain.status },
      mailbox,
      keys: tokens,
      address,
      curl,
      dashboard,
    },
  };
}

/** Makes the link with which the operator sets up the dashboard; null when somebody has done so already. */
async function makeSetUpLink({ control }: Pick<Service, 'control'>, tenant: string): Promise<string | null> {
  if ((await control.request<object[]>('GET', '/people/operators')).length > 0) return null;
  return (await control.request<{ url: string }>('POST', '/people/links', { tenant })).url;
}

function linesFor(dashboard: string | null): string[] {
  if (dashboard === null) return [];
  return [
    `Set up the dashboard (the link works once, for 30 minutes; "postrider person link" makes another):`,
    dashboard,
  ];
}

/** Returns a line that sends a mail. Until the domain is verified, the test key sends one to the simulator. */
function firstMail(address: string, { hostname }: Config, { mailbox, tokens, domain }: Made): string {
  if (mailbox) {
    const from = `hello@${domain.name}`;
    return curlLine({ address, key: tokens.live ?? UNKNOWN_KEY, from, to: mailbox.address });
  }
  return curlLine({
    address,
    key: tokens.test ?? UNKNOWN_KEY,
    from: `hello@sandbox.${hostname}`,
    to: `delivered@simulator.${hostname}`,
  });
}

/** Returns the address that answers: over HTTPS by name when browsers trust its certificate, or else on this machine. */
async function findApiAddress({ probeTls }: Pick<World, 'probeTls'>, config: Config): Promise<string> {
  const { hostname, http, https } = config;
  const port = https.enabled ? https.port : HTTPS_PORT;
  const state = await probeTls({ name: hostname, server: hostname, port });
  if (state.kind === 'valid')
    return port === HTTPS_PORT ? `https://${hostname}` : `https://${hostname}:${port}`;
  return `http://127.0.0.1:${http.port}`;
}
