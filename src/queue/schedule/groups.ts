/** Counts the open connections of each group of sites, such as those of one provider. */
import type { SiteLimits } from './limits.ts';

type Group = SiteLimits['group'];

export class Groups {
  readonly #open = new Map<string, number>();

  /** Returns true when a site of the group may have another connection. */
  mayOpen(group: Group): boolean {
    return group === null || this.openIn(group) < group.connections;
  }

  /** Returns the number of open connections. */
  openIn(group: NonNullable<Group>): number {
    return this.#open.get(group.name) ?? 0;
  }

  opened(group: Group): void {
    if (group) this.#open.set(group.name, this.openIn(group) + 1);
  }

  closed(group: Group): void {
    if (!group) return;
    const left = this.openIn(group) - 1;
    if (left > 0) this.#open.set(group.name, left);
    else this.#open.delete(group.name);
  }
}
