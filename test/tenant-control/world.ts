/** The world of a test about a tenant as a whole: a spool whose tenant is under test, another tenant that can send, and the control socket. */
import { after, afterEach } from 'node:test';
import { createControlServer } from '../../src/control-socket.ts';
import { openSpool } from '../support/spool.ts';

type World = Awaited<ReturnType<typeof openWorld>>;

async function openWorld() {
  const spool = await openSpool();
  const other = await spool.addTenant('other');
  await spool.addDomain(other.liveKey, 'other.example');
  return { spool, other, control: await createControlServer(spool.app) };
}

async function closeWorld({ control, spool }: World): Promise<void> {
  await control.close();
  await spool.close();
}

/**
 * Opens the world of the first test of a file, and returns it. Each further test has a world of its own, which `use` gets, because a test may
 * delete its tenant or leave mail in flight.
 */
export async function openWorldForEachTest(use: (world: World) => void): Promise<World> {
  let world = await openWorld();
  const first = world;
  afterEach(async () => {
    await closeWorld(world);
    world = await openWorld();
    use(world);
  });
  after(() => closeWorld(world));
  return first;
}
