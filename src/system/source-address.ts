/** Tells which address of its own this machine uses towards the internet. Nothing is sent: the kernel only chooses a route. */
import { createSocket } from 'node:dgram';

/** Addresses that are reserved for documentation: a default route leads to them, and no machine has them. */
const ELSEWHERE = { 4: '192.0.2.1', 6: '2001:db8::1' } as const;
/** Port of no meaning: a datagram socket has to name one to be connected. */
const PORT = 53;

/** Returns the address of the family; undefined when the machine has no route to the internet in it. */
export function findSourceAddress(family: 4 | 6): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(family === 4 ? 'udp4' : 'udp6');
    const end = (address: string | undefined) => {
      socket.close();
      resolve(address);
    };
    socket.once('error', () => end(undefined));
    socket.connect(PORT, ELSEWHERE[family], () => end(socket.address().address));
  });
}
