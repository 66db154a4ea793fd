/** Checks of everything that an operator has to keep right: DNS, reverse DNS, certificates, disk and others. */
import type { Feature } from '../feature.ts';
import { registerDoctorAdmin } from './admin-api.ts';
import { createDoctorWork } from './worker.ts';

export const doctor = {
  name: 'doctor',
  operatorRoutes: [registerDoctorAdmin],
  works: [createDoctorWork],
} satisfies Feature;
