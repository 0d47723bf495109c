/* SPDX-License-Identifier: MIT */
/* Reads the middle axial plane, then boxes along the diagonal, all of them in
 * flight together, and writes a profile of that.
 *
 *   boxes STORE VOLUME PROFILE.json
 */
#include <cstdio>
#include <numeric>

#include <radio/radio.hpp>

static double
mean (const std::vector<float> &voxels)
{
  RADIO_SCOPE ("mean");
  return std::accumulate (voxels.begin (), voxels.end (), 0.0)
         / static_cast<double> (voxels.size ());
}

static void
read_boxes (const radio::volume &volume)
{
  constexpr int nboxes = 8;
  std::vector<float> voxels[nboxes];
  radio::async_read reads[nboxes];
  const radio_box whole = volume.whole ();
  for (int i = 0; i < nboxes; i++) {
    radio_box box = whole;
    for (size_t axis = 0; axis < box.rank; axis++) {
      box.size[axis] = whole.size[axis] / nboxes;
      box.start[axis] = box.size[axis] * static_cast<uint64_t> (i);
    }
    reads[i] = volume.read_async (box, voxels[i]);
  }
  for (int i = 0; i < nboxes; i++) {
    reads[i].wait ();
    std::printf ("box %d: mean %.2f\n", i, mean (voxels[i]));
  }
}

int
main (int argc, char **argv)
{
  if (argc != 4) {
    std::fputs ("usage: boxes STORE VOLUME PROFILE.json\n", stderr);
    return 2;
  }
  try {
    radio_recorder_options options = {};
    options.title = "boxes";
    radio::recorder recorder (options);
    radio::store store (argv[1]);
    radio::volume volume (store, store.find (argv[2]));
    const radio_volume_info info = volume.info ();
    uint64_t shape[2];
    const uint64_t middle
      = info.array.shape[info.plane_axis[RADIO_AXIAL]] / 2;
    std::vector<float> plane = volume.read_plane<float> (RADIO_AXIAL, middle,
                                                         shape);
    std::printf ("plane of %zu voxels: mean %.2f\n", plane.size (),
                 mean (plane));
    read_boxes (volume);
    recorder.stop ().write (argv[3]);
  } catch (const std::exception &e) {
    std::fprintf (stderr, "boxes: %s\n", e.what ());
    return EXIT_FAILURE;
  }
}
