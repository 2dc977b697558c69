import { FAMILIES, familyIndex, isFamily, type Family } from '../../protocol/families';
import { parseAscendName } from '../operators/kernelToken';
import { EventKind, type RankData } from '../profile/columns';
import { userPattern } from '../userPattern';
import { FAMILY_TABLE, type FamilyTableRule } from './familyTable';
import { markNormCores } from './normCores';

export { FAMILIES, type Family };

/** A user's rule (setting `fuselens.families.rules`): a regular expression on a kernel's name or type, and its family. */
export interface FamilyRule {
  readonly pattern: string;
  readonly family: string;
}

/** A rule that cannot be used, and why; the host shows it beside the setting. */
export interface FamilyRuleProblem {
  readonly index: number;
  readonly code: 'families.bad-pattern' | 'families.unknown-family';
  readonly args: { readonly pattern: string; readonly family: string };
}

interface UserRule {
  readonly test: (value: string) => boolean;
  readonly family: number;
}

export function compileFamilyRules(rules: readonly FamilyRule[]): { readonly rules: readonly UserRule[]; readonly problems: readonly FamilyRuleProblem[] } {
  const compiled: UserRule[] = [];
  const problems: FamilyRuleProblem[] = [];
  rules.forEach((rule, index) => {
    const args = { pattern: String(rule.pattern), family: String(rule.family) };
    if (!isFamily(rule.family)) {
      problems.push({ index, code: 'families.unknown-family', args });
      return;
    }
    const test = userPattern(args.pattern);
    if (test === undefined) {
      problems.push({ index, code: 'families.bad-pattern', args });
      return;
    }
    compiled.push({ test, family: familyIndex(rule.family) });
  });
  return { rules: compiled, problems };
}

/** The family of one kernel by the table alone. `type` and `core` are '' (or `N/A`) where the format has none. */
export function familyOf(name: string, type: string, core: string): Family {
  const ascend = looksAscend(name, type, core) ? parseAscendName(name, type) : { api: '', type: '' };
  const rule = FAMILY_TABLE.find((candidate) => matches(candidate, name, ascend.api, ascend.type, core));
  return rule?.family ?? 'other';
}

function matches(rule: FamilyTableRule, name: string, api: string, type: string, core: string): boolean {
  return (rule.api === undefined || rule.api.test(api))
    && (rule.type === undefined || rule.type.test(type))
    && (rule.core === undefined || rule.core.test(core))
    && (rule.name === undefined || rule.name.test(name));
}

/** Graph names such as `Mul35` carry a type even at Level0, where the Type column says N/A; CUDA names never have a core. */
function looksAscend(name: string, type: string, core: string): boolean {
  return type !== '' || core !== '' || name.startsWith('aclnn');
}

/**
 * Fills `deviceEvents.family`: user rules first, then what the event is (communication, copies), then the table, decided once
 * per distinct (name, type, core); then the cores of norms written out become norm wherever no user rule spoke.
 */
export function assignFamilies(data: RankData, userRules: readonly FamilyRule[] = []): void {
  const { deviceEvents: events, strings } = data;
  const { rules } = compileFamilyRules(userRules);
  const ascend = data.backend === 'ascend';
  const familyOfKey: number[] = [];
  const keyOfRow = new Uint32Array(events.count);
  const decidedByUser: boolean[] = [];
  // Neighbouring rows rarely share a kernel, but the (name, type, core, kind) combinations are few: one small map by numbers.
  const byNumbers = new Map<number, Map<number, number>>();
  for (let row = 0; row < events.count; row++) {
    const high = events.name[row];
    const low = (events.type[row] * 65536 + events.core[row]) * 4 + events.kind[row];
    let inner = byNumbers.get(high);
    if (inner === undefined) {
      inner = new Map();
      byNumbers.set(high, inner);
    }
    let key = inner.get(low);
    if (key === undefined) {
      key = familyOfKey.length;
      inner.set(low, key);
      const name = strings.get(events.name[row]);
      const type = strings.get(events.type[row]);
      const user = rules.find((rule) => rule.test(name) || (type !== '' && rule.test(type)));
      decidedByUser.push(user !== undefined);
      familyOfKey.push(user?.family ?? familyIndex(familyOfEvent(events.kind[row], name, type, strings.get(events.core[row]), ascend)));
    }
    keyOfRow[row] = key;
    events.family[row] = familyOfKey[key];
  }
  markNormCores(data, keyOfRow, decidedByUser);
}

function familyOfEvent(kind: number, name: string, type: string, core: string, ascend: boolean): Family {
  switch (kind) {
    case EventKind.Communication:
      return 'communication';
    case EventKind.Copy:
      return /DtoH|DeviceToHost|device to host/i.test(name) ? 'hostSync' : 'glue';
    case EventKind.Set:
      return 'glue';
    default:
      return familyOf(name, type === '' && ascend ? 'N/A' : type, core);
  }
}
