/** Checks that readers rarely complain. Gmail and Yahoo ask bulk senders to stay below 0.1 %, and refuse mail from 0.3 % on. */
import { DAY_MS } from '../../system/clock.ts';
import { type Check, findingsOf } from '../check.ts';
import { listComplaintRates } from '../store.ts';

const { ok, warn, fail } = findingsOf('complaints');

const DAYS = 7;
/** Minimum number of delivered emails of a tenant at a provider, below which a rate says nothing. */
const MIN_DELIVERED = 500;
const MAX_RATE = 0.003;
const WARNING_RATE = 0.001;

export const complaints: Check = {
  name: 'complaints',
  async run({ db, clock }) {
    const since = clock.now() - DAYS * DAY_MS;
    const rates = await db.query(listComplaintRates, {
      since,
      minDelivered: MIN_DELIVERED,
      minRate: WARNING_RATE,
    });
    if (rates.length === 0) return [ok('complaints', 'no tenant has too many at any provider')];
    return rates.map(({ tenantId, provider, delivered, complained }) => {
      const percent = ((100 * complained) / delivered).toFixed(2);
      const says = `${complained} of ${delivered} readers complained (${percent} %)`;
      const advice = 'mail only those who have asked for it; look at the last broadcasts of this tenant';
      const isTooMany = complained / delivered >= MAX_RATE;
      return (isTooMany ? fail : warn)(`${tenantId} at ${provider}`, says, advice);
    });
  },
};
