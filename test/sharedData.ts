/** Real and hostile sample data that lies beside the repository; suites that need it skip, and say so, where it is absent. */
import { existsSync } from 'node:fs';
import path from 'node:path';

export const SHARED_DATA = path.resolve(import.meta.dirname, '../../shared/data');

export const sharedPath = (...parts: readonly string[]): string => path.join(SHARED_DATA, ...parts);

export const hasSharedData = (): boolean => existsSync(SHARED_DATA);
