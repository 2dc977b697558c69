import { tmpdir } from 'node:os';

/** A temporary folder for sockets: their paths must stay under 104 bytes, and ssh splits option values at blanks. */
export function shortTemporaryFolder(): string {
  const usual = tmpdir();
  return process.platform === 'win32' || (usual.length <= 40 && /^[\w/.-]+$/.test(usual)) ? usual : '/tmp';
}
