/** The sending part of the bare path: pipelined SMTP over connections that are kept. Any refusal ends the program. */
import { connect } from 'node:net';
import { SENDER_DOMAIN } from './message.ts';

export type Delivery = { id: string; recipient: string; message: string };

/** Returns the function that hands over a message; `settle` hears the id of each one the other side has taken. */
export function startDelivery(
  port: number,
  connections: number,
  settle: (id: string) => void,
): (delivery: Delivery) => void {
  const waiting: Delivery[] = [];
  const idle: ((delivery: Delivery) => void)[] = [];
  for (let count = 0; count < connections; count++) openConnection({ port, waiting, idle, settle });
  return (delivery) => {
    const take = idle.pop();
    if (take) take(delivery);
    else waiting.push(delivery);
  };
}

type Shared = {
  port: number;
  waiting: Delivery[];
  idle: ((delivery: Delivery) => void)[];
  settle: (id: string) => void;
};

/** RFC 2920 section 3.1: a message's content may lead the group that holds the next one's MAIL, RCPT and DATA. */
function openConnection({ port, waiting, idle, settle }: Shared): void {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  /** What to do at each reply still to come, oldest first. */
  const expected: (() => void)[] = [];
  const nothing = () => {};

  const envelope = (delivery: Delivery): string => {
    expected.push(nothing, nothing, () => sendContent(delivery));
    return `MAIL FROM:<bounce@${SENDER_DOMAIN}>\r\nRCPT TO:<${delivery.recipient}>\r\nDATA\r\n`;
  };
  const sendContent = ({ id, message }: Delivery) => {
    const next = waiting.shift();
    expected.push(() => {
      settle(id);
      if (!next) sendNext();
    });
    // RFC 5321 section 4.5.2: a line that begins with a dot gets another.
    socket.write(`${message.replace(/^\./gm, '..')}.\r\n${next ? envelope(next) : ''}`);
  };
  const sendNext = () => {
    const next = waiting.shift();
    if (next) socket.write(envelope(next));
    else idle.push((delivery) => socket.write(envelope(delivery)));
  };

  expected.push(() => {
    socket.write('EHLO bare.test\r\n');
    expected.push(sendNext);
  });
  let text = '';
  socket.on('data', (part: Buffer) => {
    text += part.toString('latin1');
    for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
      const line = text.slice(0, end);
      text = text.slice(end + 2);
      if (line >= '4') throw new Error(`the sink refused: ${line}`);
      // RFC 5321 section 4.2.1: a hyphen after the code announces another line.
      if (line[3] !== '-') expected.shift()?.();
    }
  });
}
