/** What a PersistentVolumeClaim costs: itself and its storage, in all and by storage class. */
import { parseQuantity, type Quantity, roundUpQuantity } from '../../api/quantity.ts';
import type { PersistentVolumeClaim } from '../../api/types/index.ts';
import { countName, ONE } from './amounts.ts';
import { type Charge, chargeOf } from './charge.ts';

const COUNT = countName('persistentvolumeclaims');
const CLAIMS = 'persistentvolumeclaims';
const STORAGE = 'requests.storage';
const BY_CLASS = '.storageclass.storage.k8s.io/';
/** Where claims named their class before there was a field. */
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

/** Feature gates that change what a claim costs. */
export interface ClaimGates {
  readonly recoverExpansion: boolean;
  readonly volumeAttributesClass: boolean;
}

/** True for the names that claims are charged for. */
export function isClaimName(name: string): boolean {
  const isByClass = [CLAIMS, STORAGE].some((kind) => name.endsWith(`${BY_CLASS}${kind}`));
  return name === COUNT || name === CLAIMS || name === STORAGE || isByClass;
}

/** The price of a claim. */
export function claimCharge(claim: PersistentVolumeClaim, gates: ClaimGates): Charge {
  const amounts = new Map<string, Quantity>([
    [CLAIMS, ONE],
    [COUNT, ONE],
  ]);
  const storageClass =
    claim.metadata.annotations?.[CLASS_ANNOTATION] ?? claim.spec?.storageClassName ?? '';
  if (storageClass !== '') amounts.set(`${storageClass}${BY_CLASS}${CLAIMS}`, ONE);
  const storage = storageOf(claim, gates);
  if (storage !== undefined) {
    amounts.set(STORAGE, storage);
    if (storageClass !== '') amounts.set(`${storageClass}${BY_CLASS}${STORAGE}`, storage);
  }
  const classes = gates.volumeAttributesClass ? attributesClassesOf(claim) : undefined;
  return chargeOf(amounts, classes === undefined ? {} : { volumeAttributesClasses: classes });
}

/** Whole bytes; what was set aside for an expansion counts if it is more than what is asked for. */
function storageOf({ spec, status }: PersistentVolumeClaim, gates: ClaimGates) {
  const asked = storageIn(spec?.resources?.requests);
  const aside = gates.recoverExpansion ? storageIn(status?.allocatedResources) : undefined;
  if (asked === undefined || aside === undefined) return asked;
  return aside.nanos > asked.nanos ? aside : asked;
}

function storageIn(list: Readonly<Record<string, string>> | undefined): Quantity | undefined {
  const quantity = list?.storage === undefined ? undefined : parseQuantity(list.storage);
  return quantity && roundUpQuantity(quantity);
}

/** The classes it asks for, has, and is changing to. */
function attributesClassesOf({ spec, status }: PersistentVolumeClaim): readonly string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return [...new Set(names.filter((name) => name !== undefined && name !== ''))].sort() as string[];
}
