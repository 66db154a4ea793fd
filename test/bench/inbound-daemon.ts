/** The daemon of the rows of `inbound`: a tenant whose domain receives mail at any address of it. */
import { freePort } from '../support/loopback.ts';
import { ask, type Postrider, startPostrider } from './daemon.ts';
import { SENDER_DOMAIN } from './message.ts';
import { startSilentServer } from './postrider.ts';
import type { Workspace } from './workspace.ts';

export type InboundDaemon = Postrider & { inboundPort: number };

/** Starts the daemon. By default every address receives mail. The destination of the route never answers, so that posting takes nothing of the processors. */
export async function startInboundDaemon(
  workspace: Workspace,
  { zone, localPart = '*' }: { zone: string; localPart?: string },
): Promise<InboundDaemon> {
  const silent = await startSilentServer();
  const inboundPort = await freePort();
  const postrider = await startPostrider({
    dataDir: workspace.newFolder('postrider'),
    ...{ smtpPort: silent.port, webhooks: true, inboundPort, zone },
  });
  await addRoute(postrider, localPart, silent.port);
  return {
    ...postrider,
    inboundPort,
    async [Symbol.asyncDispose]() {
      await postrider[Symbol.asyncDispose]();
      silent[Symbol.dispose]();
    },
  };
}

/** Makes a route that posts to this port. */
export async function addRoute(
  { daemon, sender }: Postrider,
  localPart: string,
  port: number,
): Promise<void> {
  const route = { address: `${localPart}@${SENDER_DOMAIN}`, destination: `http://127.0.0.1:${port}/` };
  await ask(daemon, ['POST', '/v1/inbound/routes', sender.key], route);
}
