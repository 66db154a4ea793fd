/**
 * The worker thread that authenticates messages. Its DNS cache and its keys are its own, so nothing of its work reaches the
 * main thread but the results.
 */
import { workerData } from 'node:worker_threads';
import { realClock } from '../../system/clock.ts';
import { createDns, isDnsName } from '../../system/dns.ts';
import { serveJobs } from '../../system/killable-threads/serve.ts';
import { createAuthenticate, type ReceivedMessage } from './authenticate.ts';
import type { AuthThreadData } from './authenticator.ts';

const { dnsServers, trustedRelays }: AuthThreadData = workerData;
// SPF looks up names that no host has; everything else checks its names.
const dns = createDns({ clock: realClock, servers: dnsServers, mayAsk: isDnsName });
const authenticate = createAuthenticate({ dns, clock: realClock, trustedRelays });
// A result has many small objects, which JSON carries in less time than the copy that crosses threads.
serveJobs(async (message: ReceivedMessage) => JSON.stringify(await authenticate(message)));
