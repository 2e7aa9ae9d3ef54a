// whole.mjs - works of the core, done at once.
import { atOnce } from '../../../../viewer/core/model/slices.js';
import { mapRowsWork, mapWork } from '../../../../viewer/core/memory/address.js';
import { groupSumsWork, groupsWork, stackWork } from '../../../../viewer/core/memory/raster.js';

const whole = (work) => (...given) => atOnce(work(...given));

export const mapRows = whole(mapRowsWork);
export const mapPicture = whole(mapWork);
export const stackPicture = whole(stackWork);
export const groupSums = whole(groupSumsWork);
export const groupsPicture = whole(groupsWork);
