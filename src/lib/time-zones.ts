// Finds time zones by the names of cities, countries and states, for a search field and for the sentences of people.

import { PLACES } from "./places.ts";

/** A place and its time zone. */
export type Zone = { name: string; city: string };

const RESULTS_MAX = 8;

/** The places whose name begins with what was typed, then those that contain it. The name of a zone finds only its own city. */
export function findZones(typed: string): Zone[] {
  const query = normalize(typed);
  if (query === "") return [];
  const exact = listZones().filter(({ city }) => normalize(city) === query);
  const begins = listZones().filter(
    ({ city, name }) => normalize(city).startsWith(query) || (isOwnCity({ name, city }) && normalize(name).startsWith(query)),
  );
  const within = listZones().filter((zone) => normalize(isOwnCity(zone) ? `${zone.city} ${zone.name}` : zone.city).includes(query));
  return [...new Set([...exact, ...begins, ...within])].slice(0, RESULTS_MAX);
}

function isOwnCity({ name, city }: Zone): boolean {
  return city === cityOf(name);
}

/** The time zones of a place that is named exactly: several for a large country, none if the place is unknown. */
export function zonesOfPlace(place: string): string[] {
  const query = normalize(place).replace(/^the /, "");
  return [...new Set(zonesByPlace().get(query) ?? [])];
}

/** The current time in a zone, by which people recognize it. */
export function formatTimeIn(zone: string, now: number): string {
  try {
    return new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit", weekday: "short" }).format(now);
  } catch {
    return "";
  }
}

export function cityOf(zone: string): string {
  return zone.slice(zone.lastIndexOf("/") + 1).replaceAll("_", " ");
}

let cachedZones: readonly Zone[] | null = null;

function listZones(): readonly Zone[] {
  cachedZones ??= [
    ...Intl.supportedValuesOf("timeZone").map((name) => ({ name, city: cityOf(name) })),
    ...Object.entries(PLACES).flatMap(([city, names]) => [names].flat().map((name) => ({ name, city }))),
    { name: "UTC", city: "UTC" },
  ];
  return cachedZones;
}

let cachedPlaces: ReadonlyMap<string, string[]> | null = null;

/** By the name of the place and by the name of the zone itself. */
function zonesByPlace(): ReadonlyMap<string, string[]> {
  if (cachedPlaces !== null) return cachedPlaces;
  const zones = new Map<string, string[]>();
  for (const { name, city } of listZones())
    for (const key of new Set([normalize(city), normalize(name)])) zones.set(key, [...(zones.get(key) ?? []), name]);
  cachedPlaces = zones;
  return zones;
}

function normalize(text: string): string {
  return text
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[_/.-]+/g, " ")
    .trim()
    .toLowerCase();
}
