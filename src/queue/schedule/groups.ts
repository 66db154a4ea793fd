/** Counts the open connections of each group of sites, such as those of one provider. */
import type { SiteLimits } from './limits.ts';

type Limit = SiteLimits['group'];
/** `leaving` counts those of the open connections that are about to end. */
type Count = { open: number; leaving: number };

export class Groups {
  readonly #counts = new Map<string, Count>();

  /** Returns true when a site of the group may have another connection. */
  mayOpen(limit: Limit): boolean {
    return limit === null || this.openIn(limit.name) < limit.connections;
  }

  /** Returns true when more connections stay open than the limit allows, because it has become lower. */
  isOver(limit: Limit): boolean {
    const count = limit && this.#counts.get(limit.name);
    return count ? count.open - count.leaving > limit.connections : false;
  }

  /** Returns the number of open connections. */
  openIn(group: string): number {
    return this.#counts.get(group)?.open ?? 0;
  }

  /** Returns the result of `ask` as if one connection of the group did not exist. */
  without<Answer>(group: string | undefined, ask: () => Answer): Answer {
    const count = group === undefined ? undefined : this.#counts.get(group);
    if (!count) return ask();
    count.open--;
    const answer = ask();
    count.open++;
    return answer;
  }

  opened(group: string | undefined): void {
    if (group === undefined) return;
    const { open, leaving } = this.#counts.get(group) ?? { open: 0, leaving: 0 };
    this.#counts.set(group, { open: open + 1, leaving });
  }

  /** Notes that an open connection is about to end. */
  leaves(group: string | undefined): void {
    const count = group === undefined ? undefined : this.#counts.get(group);
    if (count) count.leaving++;
  }

  /** Notes the end of a connection. */
  closed(group: string | undefined, wasLeaving: boolean): void {
    const count = group === undefined ? undefined : this.#counts.get(group);
    if (group === undefined || !count) return;
    count.open--;
    if (wasLeaving) count.leaving--;
    if (count.open === 0) this.#counts.delete(group);
  }
}
