import type { EventPlace, SearchParams, SearchResult } from '../../protocol/timeline';
import type { RankData } from '../profile/columns';
import { userPattern } from '../userPattern';
import { eventPlace } from './places';

const MOST_PLACES = 2000;
/** A regular expression of the user's sees at most this many characters of a name. */
const PATTERN_CHARACTERS = 1024;

/**
 * Events whose name, type or shapes match and whose duration lies in the range, device events first, each side in time
 * order. Strings are tested once each, not once an event.
 */
export function search(rank: RankData, params: SearchParams): SearchResult {
  const test = matcher(params);
  if (test === undefined) {
    return { total: 0, sumNs: 0, places: [], badPattern: true };
  }
  const matching = new Uint8Array(rank.strings.size);
  for (let id = 0; id < matching.length; id++) {
    matching[id] = test(rank.strings.get(id)) ? 1 : 0;
  }
  const fields = params.fields ?? ['name', 'type', 'shapes'];
  const everything = (params.text ?? '') === '';
  const limit = Math.min(params.limit ?? 500, MOST_PLACES);
  const places: EventPlace[] = [];
  let total = 0;
  let sumNs = 0;
  const scan = (side: 'device' | 'host', columns: readonly Uint32Array[], durationNs: Float64Array): void => {
    for (let index = 0; index < durationNs.length; index++) {
      const duration = durationNs[index];
      if ((params.minNs !== undefined && !(duration >= params.minNs)) || (params.maxNs !== undefined && !(duration <= params.maxNs))) {
        continue;
      }
      if (!everything && !columns.some((column) => column[index] !== 0 && matching[column[index]] === 1)) {
        continue;
      }
      total++;
      sumNs += duration > 0 ? duration : 0;
      const found = places.length < limit ? eventPlace(rank, { side, index }) : undefined;
      if (found !== undefined) {
        places.push(found);
      }
    }
  };
  const sides = params.sides ?? ['device', 'host'];
  if (sides.includes('device')) {
    const { name, type, shapes, durationNs } = rank.deviceEvents;
    const columns = { name, type, shapes };
    scan('device', fields.map((field) => columns[field]), durationNs);
  }
  if (sides.includes('host')) {
    const { name, durationNs } = rank.hostEvents;
    scan('host', fields.includes('name') ? [name] : [], durationNs);
  }
  return { total, sumNs, places, badPattern: false };
}

/** Undefined when the regular expression does not compile. Text without `regex` matches anywhere, in any case. */
function matcher({ text = '', regex = false }: SearchParams): ((value: string) => boolean) | undefined {
  if (!regex) {
    const wanted = text.toLowerCase();
    return (value) => value.toLowerCase().includes(wanted);
  }
  const test = userPattern(text);
  return test === undefined ? undefined : (value) => test(value.slice(0, PATTERN_CHARACTERS));
}
