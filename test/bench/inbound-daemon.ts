/** The daemon of the rows of `inbound`: a tenant whose domain receives mail at any address of it. */
import { freePort } from '../support/loopback.ts';
import { type Postrider, startPostrider } from './daemon.ts';
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
  const stop = async () => {
    await postrider.stop();
    silent.stop();
  };
  const { status, body } = await postrider.daemon.request(
    'POST',
    '/v1/inbound/routes',
    postrider.sender.key,
    {
      address: `${localPart}@${SENDER_DOMAIN}`,
      destination: `http://127.0.0.1:${silent.port}/`,
    },
  );
  if (status === 201) return { ...postrider, inboundPort, stop };
  await stop();
  throw new Error(`the route was refused: ${JSON.stringify(body)}`);
}
