/** Limits the orders for names of tenants, so that no tenant spends the limits that the authority sets for all. */

export type DailyLimits = {
  /** Maximum number of orders in a period for names of all tenants together, and for those of one tenant. */
  all: number;
  perTenant: number;
  periodMs: number;
};

/** Share of the orders that one tenant may use: a quarter, and at least one order. */
const SHARES = 4;

/** Returns the limits for the number of orders a day that the configuration allows. */
export function dailyLimits(ordersPerDay: number, periodMs: number): DailyLimits {
  return { all: ordersPerDay, perTenant: Math.max(1, Math.floor(ordersPerDay / SHARES)), periodMs };
}

type Orders = readonly { at: number; tenantId: string }[];

/**
 * Returns undefined when a tenant may order now; otherwise the time at which the order that stands in the way no longer
 * counts, in Unix milliseconds. `orders` are in the order of their times.
 */
export function findFreeAt(
  orders: Orders,
  { tenantId, limits, now }: { tenantId: string; limits: DailyLimits; now: number },
): number | undefined {
  // An order from the future was counted before the clock was set back.
  const recent = orders.filter(({ at }) => at > now - limits.periodMs && at <= now);
  const own = recent.filter((order) => order.tenantId === tenantId);
  const times = [recent.at(-limits.all), own.at(-limits.perTenant)].flatMap((order) =>
    order ? [order.at + limits.periodMs] : [],
  );
  return times.length > 0 ? Math.max(...times) : undefined;
}
