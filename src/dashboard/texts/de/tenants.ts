import type { tenants as english } from '../en/tenants.ts';

/** Texts of the operator's pages about tenants. */
export const tenants: typeof english = {
  title: 'Mandanten',
  name: 'Name',
  id: 'Kennung',
  plan: 'Tarif',
  createdAt: 'Angelegt',
};
