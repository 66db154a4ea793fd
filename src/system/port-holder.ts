/** Finds the process that listens on a TCP port, as far as this user may see the processes of the machine. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/** `unit` is the unit of systemd that the process belongs to; undefined for any other process. */
export type PortHolder = { pid: number; name: string; unit: string | undefined };

/** State of a socket that listens, in /proc/net/tcp (TCP_LISTEN of the kernel). */
const LISTENING = '0A';

/** Returns the holder; undefined when nothing listens, or its process cannot be seen. `proc` is for tests. */
export function findPortHolder(port: number, proc = '/proc'): PortHolder | undefined {
  const sockets = new Set(
    ['tcp', 'tcp6'].flatMap((table) => listeningSockets(read(`${proc}/net/${table}`), port)),
  );
  if (sockets.size === 0) return undefined;
  const pid = list(proc).find((name) => /^\d+$/.test(name) && holdsOne(`${proc}/${name}/fd`, sockets));
  if (pid === undefined) return undefined;
  return {
    pid: Number(pid),
    name: read(`${proc}/${pid}/comm`).trim(),
    unit: unitOf(read(`${proc}/${pid}/cgroup`)),
  };
}

/** Returns the sockets of a table of proc_net_tcp(5) that listen on the port, as links of descriptors name them. */
function listeningSockets(table: string, port: number): string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return table.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const [, local = '', , state] = fields;
    return state === LISTENING && local.endsWith(`:${wanted}`) ? [`socket:[${fields[9]}]`] : [];
  });
}

function holdsOne(folder: string, sockets: ReadonlySet<string>): boolean {
  return list(folder).some((descriptor) => sockets.has(readLink(`${folder}/${descriptor}`)));
}

/** Returns the last part of a path such as `0::/system.slice/exim4.service` that is a service. */
function unitOf(cgroup: string): string | undefined {
  const name = basename(cgroup.trim().split('\n').at(-1) ?? '');
  return name.endsWith('.service') ? name : undefined;
}

/** A process may end at any time, and those of other users are hidden: what cannot be read is empty. */
function unlessHidden<Value>(look: () => Value, otherwise: Value): Value {
  try {
    return look();
  } catch {
    return otherwise;
  }
}

const list = (folder: string): string[] => unlessHidden(() => readdirSync(folder), []);
const read = (file: string): string => unlessHidden(() => readFileSync(file, 'latin1'), '');
const readLink = (file: string): string => unlessHidden(() => readlinkSync(file), '');
