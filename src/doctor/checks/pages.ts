/**
 * Checks that readers reach the pages that links lead to. Large receivers ask for one-click unsubscribing over https (RFC 8058
 * section 3.1).
 */
import { trackingTarget } from '../../domains/records.ts';
import { type Check, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('pages');

/** Port of HTTPS (RFC 9110 section 4.2.2). */
const HTTPS_PORT = 443;

export const pages: Check = {
  name: 'pages',
  isForProduction: true,
  async run({ config, probeTls }) {
    const host = trackingTarget(config);
    const url = new URL(config.links.url || `https://${host}`);
    const advice = 'make the pages reachable as docs/unsubscribing.md says';
    if (url.protocol !== 'https:')
      return [
        fail(url.origin, 'readers cannot unsubscribe with one click, because links.url is not https', advice),
      ];
    const port = url.port === '' ? HTTPS_PORT : Number(url.port);
    const state = await probeTls({ name: url.hostname, server: url.hostname, port });
    switch (state.kind) {
      case 'valid':
        return [ok(url.origin, 'the pages have a valid certificate')];
      case 'invalid':
        return [fail(url.origin, `browsers refuse its certificate (${state.reason})`, advice)];
      case 'unreachable':
        return [warn(url.origin, `the pages cannot be reached (${state.reason})`, advice)];
    }
  },
};
