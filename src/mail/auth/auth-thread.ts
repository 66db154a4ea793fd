/**
 * The worker thread that authenticates messages. Its DNS cache and its keys are its own, so nothing of its work reaches the
 * main thread but the results.
 */
import { workerData } from 'node:worker_threads';
import { realClock } from '../../system/clock.ts';
import { createDns, isDnsName } from '../../system/dns.ts';
import { serveJobs } from '../../system/killable-threads/serve.ts';
import { createAuthenticate } from './authenticate.ts';
import type { AuthThreadData } from './authenticator.ts';

const { dnsServers, trustedRelays }: AuthThreadData = workerData;
// SPF looks up names that no host has; everything else checks its names.
const dns = createDns({ clock: realClock, servers: dnsServers, mayAsk: isDnsName });
serveJobs(createAuthenticate({ dns, clock: realClock, trustedRelays }));
