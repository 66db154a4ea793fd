/**
 * Tells the service manager of the machine how the daemon is (sd_notify(3)): that it serves, that it reads its
 * configuration again, that it stops, and, as long as its event loop turns, that it is alive. systemd restarts a
 * daemon that has not said so for the time of `WatchdogSec`. Messages are datagrams of a UNIX socket, which Node
 * cannot open; `bin/postrider` passes a connected one that does not block.
 */
import { writeSync } from 'node:fs';
import type { Clock, Timer } from './clock.ts';
import type { Log } from './log.ts';

export type ServiceManager = {
  /** The daemon serves. From now on the watchdog is fed. */
  reportReady(): void;
  /** The daemon reads its configuration again. `reportReady` ends this. */
  reportReloading(): void;
  /** The daemon drains. */
  reportStopping(): void;
  /** Ends the messages for the watchdog. */
  close(): void;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Number of messages within the time of the watchdog. Two may be late or lost before the daemon is restarted. */
const FEEDS_PER_TIMEOUT = 3;
/** Minimum time between two messages for the watchdog, however short its time is. */
const MIN_FEED_MS = 100;

const NO_MANAGER: ServiceManager = {
  reportReady() {},
  reportReloading() {},
  reportStopping() {},
  close() {},
};

/** Returns the service manager that `env` names, or one that hears nothing when the daemon was not started by one. */
export function openServiceManager(
  { clock, log }: { clock: Pick<Clock, 'after'>; log: Pick<Log, 'warn'> },
  env: Environment,
): ServiceManager {
  const descriptor = env['NOTIFY_FD'];
  if (descriptor === undefined) return NO_MANAGER;
  const send = createSender(Number(descriptor), log);
  const feedMs = watchdogPeriodMs(env);
  let feeding: Timer | undefined;
  const feed = (delayMs: number): void => {
    send('WATCHDOG=1');
    feeding = clock.after(delayMs, () => feed(delayMs));
  };
  return {
    reportReady() {
      send('READY=1');
      if (feedMs !== undefined && feeding === undefined) feed(feedMs);
    },
    reportReloading: () => send('RELOADING=1'),
    reportStopping: () => send('STOPPING=1'),
    close: () => feeding?.cancel(),
  };
}

/** Returns the period of the messages for the watchdog; undefined when none watches this process (sd_watchdog_enabled(3)). */
function watchdogPeriodMs({ WATCHDOG_USEC: timeout, WATCHDOG_PID: pid }: Environment): number | undefined {
  const timeoutMs = Number(timeout ?? 0) / 1_000;
  const isForUs = pid === undefined || pid === String(process.pid);
  return isForUs && timeoutMs > 0 ? Math.max(MIN_FEED_MS, timeoutMs / FEEDS_PER_TIMEOUT) : undefined;
}

/** Returns a function that sends a message. One that cannot be sent, such as while systemd is busy, is lost; the first is logged. */
function createSender(descriptor: number, log: Pick<Log, 'warn'>): (message: `${string}=1`) => void {
  let hasWarned = false;
  return (message) => {
    try {
      writeSync(descriptor, message);
    } catch (error) {
      if (!hasWarned) log.warn({ err: error }, 'cannot tell systemd how the daemon is');
      hasWarned = true;
    }
  };
}
