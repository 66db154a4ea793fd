/** A check sees everything that happens in a simulation, and fails it when a rule is broken. */
import type { EventRow, RecipientRow } from '../../../src/db/tables.ts';
import type { Observation } from '../observation.ts';
import type { Plan } from '../plan.ts';

/** Rows that are stored when the simulation has ended. */
export type Stored = {
  recipients: readonly Pick<RecipientRow, 'address' | 'state' | 'attempts' | 'holdReason'>[];
  /** In the order in which they happened. */
  events: readonly Pick<EventRow, 'type' | 'data'>[];
};

export type Check = {
  observe?(observation: Observation, at: number): void;
  atEnd?(stored: Stored): void;
};

/** Fails the simulation with the broken rule in words. */
export type Fail = (rule: string) => void;

export type MakeCheck = (plan: Plan, fail: Fail) => Check;
